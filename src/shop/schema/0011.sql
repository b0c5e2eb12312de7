-- Names the state of what forecasts are decided from (shop/forecast/forecast-version.ts). A change of that gives it another name. No row: none of it
-- was changed since this table was made.
create table forecast_version (
  shop_id text not null,
  version text not null,
  primary key (shop_id)
);
