-- Where the console finds the picture of a variant.
alter table variant add column image_url text;
