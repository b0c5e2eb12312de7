-- Forecast versions name a state and count its changes (shop/forecast/forecast-version.ts): `version` is new when more was changed than is noted,
-- `changes` grows with every change, and forecast_change has the last one of each variant.
alter table forecast_version add column changes bigint not null default 0;
create table forecast_change (
  shop_id text not null,
  variant_id text not null,
  change bigint not null,
  primary key (shop_id, variant_id)
);
create index forecast_change_by_change on forecast_change (shop_id, change, variant_id);
