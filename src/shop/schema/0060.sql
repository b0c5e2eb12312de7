-- Links by which people sign in again (C49; shop/access/sign-in-links.ts). A link has a row of its own, and one for each secret that was mailed.
create table sign_in_link (
  shop_id text not null,
  secret_hash text not null,
  link_id text not null,
  person_id text not null,
  created_at bigint not null,
  expires_at bigint not null,
  used_at bigint,
  primary key (shop_id, secret_hash)
);
create index sign_in_link_by_link on sign_in_link (shop_id, link_id);
create index sign_in_link_by_time on sign_in_link (shop_id, created_at);

-- The link that a mail has; null: it is about no sign-in.
alter table mail add column sign_in_link_id text;

-- What the session began with; null: an invitation, or the API key in `key_id`.
alter table console_session add column signed_in_with text;
