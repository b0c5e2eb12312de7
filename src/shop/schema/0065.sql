-- What a supplier writes beside an answer (shop/supplier/supplier-proposals.ts).
alter table supplier_proposal add column message text;
