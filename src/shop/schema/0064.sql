-- Mails that have failed, to list the orders that nobody got (shop/supplier/mails.ts).
create index mail_failed on mail (shop_id, settled_at) where state = 'failed';
