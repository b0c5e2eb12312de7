-- How stored answers are kept, and how much space they take (shop/access/idempotency.ts). `encoding`: how the body is stored; null: as it was sent.
-- `bytes`: of the record's texts. The total of a shop is kept with every change of its records.
alter table idempotency_record add column encoding text;
alter table idempotency_record add column bytes bigint not null default 0;
drop index idempotency_record_by_age;
create index idempotency_record_by_age on idempotency_record (shop_id, stored_at, bytes);
create table idempotency_total (
  shop_id text not null,
  bytes bigint not null,
  primary key (shop_id)
);

-- Answers from before.
update idempotency_record set bytes = length(idempotency_key) + length(fingerprint) + length(headers) + length(body);
insert into idempotency_total (shop_id, bytes) select shop_id, sum(bytes) from idempotency_record group by shop_id;
