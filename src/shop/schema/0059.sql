-- The person whom a mail about approval requests is for (shop/access/approval-mails.ts); null: it is of an order. Such a mail has '' as its order.
alter table mail add column person_id text;
create index mail_of_person on mail (shop_id, person_id, since_at) where person_id is not null;
