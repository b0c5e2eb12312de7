-- How many items of a push the storefront took and has not been seen to show since (C43): such a push is kept until it was read back.
-- Nobody noted that of pushes from before, so they are looked at once more. Which items they are stands in `items`.
alter table stock_push add column unread bigint not null default 0;
update stock_push set unread = 1 where state = 'settled' and items like '%"landed"%';
