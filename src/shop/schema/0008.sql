-- What a supplier's record says beside name, email, currency and lead time (contract section 8); null for the suppliers that are there.
alter table supplier add column phone text;
alter table supplier add column contact_name text;
alter table supplier add column payment_terms text;
alter table supplier add column incoterm text;
