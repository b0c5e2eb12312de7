-- Mails to suppliers (shop/supplier/mails.ts). `recipients`, `content` and `documents` are JSON. `since_at`: since when it is tried. `due_at`: when it is
-- tried next; while a process has it (`lease_owner`), when another may take it over; null when it is not tried again.
create table mail (
  shop_id text not null,
  mail_id text not null,
  purchase_order_id text not null,
  state text not null,
  recipients text not null,
  content text not null,
  documents text not null,
  order_version bigint not null,
  attempts bigint not null,
  detail text,
  since_at bigint not null,
  due_at bigint,
  lease_owner text,
  created_at bigint not null,
  created_by text,
  settled_at bigint,
  traceparent text,
  primary key (shop_id, mail_id)
);
create index mail_due on mail (shop_id, due_at) where due_at is not null;
create index mail_of_order on mail (shop_id, purchase_order_id, mail_id);
create index mail_by_age on mail (shop_id, created_at);

-- What a mail attaches, in base64, as long as it may have to be sent.
create table mail_document (
  shop_id text not null,
  mail_id text not null,
  position bigint not null,
  bytes text not null,
  primary key (shop_id, mail_id, position)
);
