-- The parties as they were called when an order left Draft: its paper prints these, whatever they are called later (C62). A row holds for the supplier and
-- the location that it names.
create table purchase_order_parties (
  shop_id text not null,
  purchase_order_id text not null,
  shop_name text not null,
  supplier_id text,
  supplier_name text,
  supplier_address text,
  supplier_email text,
  location_id text,
  location_name text,
  location_address text,
  primary key (shop_id, purchase_order_id)
);

-- Orders from before.
insert into purchase_order_parties (shop_id, purchase_order_id, shop_name, supplier_id, supplier_name, supplier_address, supplier_email,
  location_id, location_name, location_address)
select o.shop_id, o.purchase_order_id, h.name, o.supplier_id, s.name, s.address, s.email, o.location_id, p.name, p.address
from purchase_order o
  join shop h on h.shop_id = o.shop_id
  left join supplier s on s.shop_id = o.shop_id and s.supplier_id = o.supplier_id
  left join location p on p.shop_id = o.shop_id and p.location_id = o.location_id
where o.deleted_at is null and o.status <> 'Draft';
