-- The private bucket that holds the segments. It has no policies: only the secret key opens an object, and only the
-- edge function holds the secret key.

insert into storage.buckets (id, name, public, file_size_limit)
values ('filestore-segments', 'filestore-segments', false, 1048576)
on conflict (id) do update set public = false, file_size_limit = excluded.file_size_limit;
