-- The name of the state in which an order and its lines are, with its version: another one with each change. Null: it has none.
alter table purchase_order add column state_id text;
