-- Bounds of mails, of names, and of a retention rule.
--
-- A migration of its own, so that it never holds one lock while it waits for another that a request has. Where a long
-- transaction uses the view, it gives up, so that requests do not wait behind it for longer: push again.
set local lock_timeout = '5s';

do $$
begin
  -- A view can only be given more columns at its end.
  execute 'create or replace view filestore.limits as '
    || rtrim(pg_get_viewdef('filestore.limits'::regclass), ';')
    || ', 50 as invitation_mails_per_day_max, 100 as run_versions_named_max, 10000 as keep_versions_max'
    || ', 3650 as keep_days_max';
end
$$;
