-- Links by which suppliers see an order and answer it (shop/supplier/supplier-links.ts). Of the secret only a hash is stored. `supplier_id`: whom
-- the order was for when the link was made.
create table supplier_link (
  shop_id text not null,
  link_id text not null,
  secret_hash text not null,
  purchase_order_id text not null,
  supplier_id text,
  created_at bigint not null,
  created_by text,
  expires_at bigint not null,
  revoked_at bigint,
  primary key (shop_id, link_id)
);
create unique index supplier_link_by_secret on supplier_link (shop_id, secret_hash);
create index supplier_link_by_order on supplier_link (shop_id, purchase_order_id, link_id);
create index supplier_link_by_end on supplier_link (shop_id, expires_at);

-- What suppliers have answered (shop/supplier/supplier-proposals.ts). `lines`: JSON, each with what the order said of it then.
create table supplier_proposal (
  shop_id text not null,
  purchase_order_id text not null,
  proposal_id text not null,
  link_id text not null,
  state text not null,
  lines text not null,
  reference text,
  tracking_number text,
  created_at bigint not null,
  decided_at bigint,
  decided_by text,
  primary key (shop_id, purchase_order_id, proposal_id)
);
create unique index supplier_proposal_open on supplier_proposal (shop_id, purchase_order_id) where state = 'open';
