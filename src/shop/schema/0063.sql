-- Language of the console that a person has chosen; null: the one that their browser likes.
alter table person add column language text;
