-- Usage by day: requests, versions and bytes, in rows of days. No request waits for these counts.
--
-- Each isolate of the edge function adds up its requests and sends the sums from time to time. The sweep and
-- requests for usage count versions from their own rows, in the order of the change feed.

create function public.filestore_count_usage(p_counts jsonb) returns void
language sql volatile security definer set search_path = '' as $$
  select set_config('lock_timeout', (filestore.limits()).lock_timeout_milliseconds::text, true),
    set_config('synchronous_commit', 'off', true);
  -- In one order, so that isolates that wait for each other cannot deadlock.
  insert into filestore.usage_days as d (project_id, day, key_id, requests)
  select p.id, c.day, coalesce(c.key_id, '00000000-0000-0000-0000-000000000000'), sum(c.requests)
  from (
    select (e.value ->> 'projectId')::uuid as project_id, (e.value ->> 'keyId')::uuid as key_id,
           (e.value ->> 'day')::date as day, (e.value ->> 'requests')::bigint as requests
    from jsonb_array_elements(p_counts) e
  ) c
  join filestore.projects p on p.id = c.project_id and p.deleted_at is null
  -- An isolate may have slept past midnight.
  where abs(c.day - (select filestore.sweep_clock() at time zone 'UTC')::date) <= 1
  group by 1, 2, 3 order by 1, 2, 3
  on conflict (project_id, day, key_id) do update set requests = d.requests + excluded.requests
$$;
comment on function public.filestore_count_usage is
  'Adds requests that an isolate has counted, [{"projectId", "keyId", "day", "requests"}], to the days of '
  'their projects; keyId null stands for the console.';
call filestore.publish('public.filestore_count_usage', 'filestore_admin', 'service_role');

create function filestore.fold_usage(p_project_id uuid, p_versions_max integer) returns integer
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_today constant date := (filestore.sweep_clock() at time zone 'UTC')::date;
  v_oldest constant date := v_today - (filestore.limits()).usage_kept_days;
  v_end bigint;
  v_position bigint;
  v_last bigint;
  v_versions integer;
begin
  -- One transaction counts at a time. Meanwhile, a request for usage reads the earlier counts.
  if not pg_try_advisory_xact_lock(hashtextextended('usage/' || p_project_id, 0)) then return 0; end if;
  v_end := filestore.feed_end(p_project_id);
  v_position := coalesce((select f.position from filestore.usage_folds f where f.project_id = p_project_id), 0);
  with slice as materialized (
    select v.file_id, v.version, v.position, v.operation, v.size, v.created_at, v.key_id
    from filestore.file_versions v
    where v.project_id = p_project_id and v.position > v_position and v.position <= v_end
    order by v.position limit p_versions_max
  ), counted as (
    insert into filestore.usage_days as d (project_id, day, key_id, versions, bytes_written)
    select p_project_id, (s.created_at at time zone 'UTC')::date, s.key_id, count(*),
           sum(case when s.operation in ('write', 'overwrite', 'edit') then s.size
             when s.operation = 'append' then greatest(s.size - coalesce((
               select b.size from filestore.file_versions b
               where b.project_id = p_project_id and b.file_id = s.file_id and b.version = s.version - 1), s.size), 0)
             else 0 end)
    from slice s
    -- The receipt of a purge is not a version that a client wrote.
    where s.operation <> 'purge' and (s.created_at at time zone 'UTC')::date > v_oldest
    group by 2, 3 order by 2, 3
    on conflict (project_id, day, key_id) do update
      set versions = d.versions + excluded.versions, bytes_written = d.bytes_written + excluded.bytes_written
  )
  select count(*), max(s.position) into v_versions, v_last from slice s;
  insert into filestore.usage_folds as f (project_id, position, folded_at)
  values (
    p_project_id, coalesce(v_last, v_position),
    -- If versions are left, the project is due again at once, like the other projects that are due.
    filestore.sweep_clock() - case when v_versions < p_versions_max then interval '0' else interval '1 hour' end)
  on conflict (project_id) do update set position = excluded.position, folded_at = excluded.folded_at;
  -- The present size of the project is the level of the day, where it changed.
  insert into filestore.usage_levels as l (project_id, day, bytes, database_bytes)
  select p_project_id, v_today, n.bytes, n.database_bytes
  from (
    select coalesce(sum(u.bytes), 0) as bytes, coalesce(sum(u.database_bytes), 0) as database_bytes
    from filestore.project_usage u where u.project_id = p_project_id
  ) n
  where not exists (
    select from (
      select * from filestore.usage_levels o
      where o.project_id = p_project_id and o.day <= v_today order by o.day desc limit 1
    ) o where o.bytes = n.bytes and o.database_bytes = n.database_bytes)
  on conflict (project_id, day) do update set bytes = excluded.bytes, database_bytes = excluded.database_bytes;
  return v_versions;
end
$$;
comment on function filestore.fold_usage is
  'Counts versions of a project that are not counted yet, up to p_versions_max, in its days, and stores its '
  'present size; returns the number of versions counted.';
call filestore.publish('filestore.fold_usage', 'filestore_admin', 'filestore_account');
call filestore.pin_plan('filestore.fold_usage');

create function filestore.sweep_usage(p_begun timestamptz) returns boolean
language plpgsql volatile set search_path = '' as $$
declare
  v_oldest constant date := (filestore.sweep_clock() at time zone 'UTC')::date - (filestore.limits()).usage_kept_days;
  c_projects constant integer := 100;
  v_left integer := 10000;
  v_project_id uuid;
  v_is_any boolean := false;
begin
  for v_project_id in
    -- In the order in which isolates add their requests, which may concern the same rows.
    select due.id from (
      select p.id from filestore.projects p left join filestore.usage_folds f on f.project_id = p.id
      where p.deleted_at is null and (p.created_at <= p_begun) is not false and (f.project_id is null
        or f.folded_at < filestore.sweep_clock() - interval '1 hour')
      order by coalesce(f.folded_at, p.created_at), p.id limit c_projects
    ) due order by due.id
  loop
    v_is_any := true;
    v_left := v_left - filestore.fold_usage(v_project_id, v_left);
    delete from filestore.usage_days d where d.project_id = v_project_id and d.day <= v_oldest;
    -- The newest of them is still needed for the days after it.
    delete from filestore.usage_levels l
    where l.project_id = v_project_id and l.day < (
      select max(o.day) from filestore.usage_levels o where o.project_id = v_project_id and o.day <= v_oldest);
    exit when v_left <= 0;
  end loop;
  return v_is_any;
end
$$;
comment on function filestore.sweep_usage is
  'One slice of counting usage: counts projects whose versions were not counted recently, and removes days '
  'that are no longer kept. False if no work was left that existed before p_begun.';
call filestore.grant_execute('filestore.sweep_usage', 'filestore_admin');

create function filestore.usage_by_day(p_project_id uuid, p_query jsonb) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  c_console constant uuid := '00000000-0000-0000-0000-000000000000';
  v_today constant date := (filestore.sweep_clock() at time zone 'UTC')::date;
  v_only_key_id constant uuid := case when p_query ? 'onlyKeyId'
    then coalesce((p_query ->> 'onlyKeyId')::uuid, c_console) end;
  v_key_id uuid;
  v_from date;
  v_to date;
begin
  begin
    v_to := coalesce((p_query ->> 'to')::date, v_today);
    v_from := coalesce((p_query ->> 'from')::date, v_to - 29);
    v_key_id := case when p_query ->> 'keyId' = 'console' then c_console else (p_query ->> 'keyId')::uuid end;
  exception when data_exception then
    return filestore.refused_field('from', 'and to must be days, and keyId the id of a key or console');
  end;
  if v_to not between v_from and v_from + (filestore.limits()).usage_days_max - 1 then
    return filestore.refused_field(
      'to', format('must be from and at most %s days later', (filestore.limits()).usage_days_max - 1));
  end if;
  return jsonb_build_object('value', jsonb_build_object(
    'from', v_from, 'to', v_to,
    'days', (
      select coalesce(jsonb_agg(jsonb_build_object(
        'day', g.day::date, 'requests', coalesce(u.requests, 0), 'versions', coalesce(u.versions, 0),
        'bytesWritten', coalesce(u.bytes_written, 0), 'bytes', l.bytes, 'databaseBytes', l.database_bytes)
        order by g.day), '[]')
      from generate_series(v_from::timestamp, least(v_to, v_today)::timestamp, interval '1 day') g (day)
      left join (
        select d.day, sum(d.requests) as requests, sum(d.versions) as versions, sum(d.bytes_written) as bytes_written
        from filestore.usage_days d
        where d.project_id = p_project_id and d.day between v_from and v_to
          and (v_key_id is null or d.key_id = v_key_id and d.key_id = coalesce(v_only_key_id, d.key_id))
        group by d.day
      ) u on u.day = g.day::date
      left join lateral (
        select s.bytes, s.database_bytes from filestore.usage_levels s
        where s.project_id = p_project_id and s.day <= g.day::date order by s.day desc limit 1
      ) l on true))
    || (
      select jsonb_build_object(
        'keyCount', count(*),
        'keys', coalesce(jsonb_agg(jsonb_build_object(
          'keyId', nullif(s.key_id, c_console), 'name', k.name, 'prefix', nullif(k.prefix, ''),
          'requests', s.requests, 'versions', s.versions, 'bytesWritten', s.bytes_written) order by s.place)
          filter (where s.place <= (filestore.limits()).usage_keys_shown_max), '[]'))
      from (
        select d.key_id, sum(d.requests) as requests, sum(d.versions) as versions,
               sum(d.bytes_written) as bytes_written,
               row_number() over (order by sum(d.requests) desc, sum(d.versions) desc, d.key_id) as place
        from filestore.usage_days d
        where d.project_id = p_project_id and d.day between v_from and v_to
          and d.key_id = coalesce(v_only_key_id, d.key_id)
        group by d.key_id
      ) s
      left join filestore.api_keys k on k.project_id = p_project_id and k.id = s.key_id));
end
$$;
comment on function filestore.usage_by_day is
  'Usage of an opened project: {"from", "to"} are days, by default the last 30; {"keyId"} limits the days to '
  'one key, by id, or to console; {"onlyKeyId"} is the only key whose usage the caller may see. Refusals: '
  'VALIDATION_ERROR.';
call filestore.grant_execute('filestore.usage_by_day', 'filestore_account');
