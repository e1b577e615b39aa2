-- Purpose: the private bucket that holds the segments. No policies: only the secret key opens an object, and only
-- the function holds the secret key.

insert into storage.buckets (id, name, public, file_size_limit)
values ('filestore-segments', 'filestore-segments', false, 1048576)
on conflict (id) do update set public = false, file_size_limit = excluded.file_size_limit;
