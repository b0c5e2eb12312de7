-- Sign-in with API keys (C49; shop/accounts.ts, shop/people.ts).

-- 0: nobody signs in with the key.
alter table api_key add column sign_in bigint not null default 1;

-- The API key by which the person has signed in who made the change; null for everybody else.
alter table purchase_order_log add column actor_key_id text;
create index purchase_order_log_by_key on purchase_order_log (shop_id, actor_key_id, occurred_at, log_id, operation) where actor_key_id is not null;

-- A key makes one person, who goes with it. Of those that a key has made before, the one that was seen last stays and takes over their views.
drop index person_by_key;
create index person_by_key on person (shop_id, key_id, last_seen_at, person_id) where key_id is not null;
update console_view set person_id =
    (select q.person_id from person p join person q on q.shop_id = p.shop_id and q.key_id = p.key_id
     where p.shop_id = console_view.shop_id and p.person_id = console_view.person_id
     order by coalesce(q.last_seen_at, 0) desc, q.person_id desc limit 1)
  where exists (select 1 from person p where p.shop_id = console_view.shop_id and p.person_id = console_view.person_id and p.key_id is not null);
delete from person where key_id is not null and (
  not exists (select 1 from api_key k where k.shop_id = person.shop_id and k.key_id = person.key_id and k.revoked_at is null)
  or exists (select 1 from person q where q.shop_id = person.shop_id and q.key_id = person.key_id
    and (coalesce(q.last_seen_at, 0) > coalesce(person.last_seen_at, 0)
      or coalesce(q.last_seen_at, 0) = coalesce(person.last_seen_at, 0) and q.person_id > person.person_id)));
delete from console_view where is_shared = 0 and person_id is not null and not exists
  (select 1 from person p where p.shop_id = console_view.shop_id and p.person_id = console_view.person_id);
delete from console_session where not exists
  (select 1 from person p where p.shop_id = console_session.shop_id and p.person_id = console_session.person_id);
delete from console_bearer where operator = 0 and not exists
  (select 1 from console_session s where s.shop_id = console_bearer.shop_id and s.session_id = console_bearer.session_id);
