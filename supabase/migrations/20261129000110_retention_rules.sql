-- Rules of retention that the API would have refused, but that an account could store by calling the function directly,
-- are removed: nothing is erased by them. The next migration keeps others out.

create function filestore.is_retention(p_rule jsonb) returns boolean
language sql immutable strict set search_path = '' as $$
  select case when jsonb_typeof(p_rule) = 'object' then not exists (
    select from jsonb_each(p_rule) f (name, value)
    where (jsonb_typeof(f.value) = 'number' and f.value::text ~ '^[1-9][0-9]{0,4}$' and case f.name
      when 'keepVersions' then f.value::text::integer <= (filestore.limits()).keep_versions_max
      when 'keepDays' then f.value::text::integer <= (filestore.limits()).keep_days_max
      when 'deletedDays' then f.value::text::integer <= (filestore.limits()).keep_days_max
    end) is not true)
  else false end
$$;
comment on function filestore.is_retention is
  'Whether the sweep can apply a retention rule, and the API can show it. Accounts may call the function that sets it '
  'directly.';
revoke all on function filestore.is_retention from public, anon, authenticated, service_role;
grant execute on function filestore.is_retention to filestore_account, filestore_admin, filestore_engine;

update filestore.projects p set retention = null where not filestore.is_retention(p.retention);
