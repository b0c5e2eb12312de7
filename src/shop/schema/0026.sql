-- How a shop's documents look: one row for each type of document (shop/supplier/document-settings.ts).

create table document_settings (
  shop_id text not null,
  document_type text not null,
  doc text not null,
  primary key (shop_id, document_type)
);
