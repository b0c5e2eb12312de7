-- What entered and left the moving average with a cost, by line (C45), as JSON. Null: the row is older than that.
alter table cost_sync add column lots text;
