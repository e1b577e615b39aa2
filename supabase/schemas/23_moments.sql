-- The project at a moment: finds the version of a file at that moment, including changes at exactly that
-- time.

create type filestore.moment as (at timestamptz, position bigint, unchanged_before timestamptz, refusal jsonb);
comment on type filestore.moment is
  'The moment that `at=` names: a time, or a position of the change feed; neither if there is a refusal.';
comment on column filestore.moment.unchanged_before is
  'A file last updated at or before this time is unchanged since the moment. A commit takes its time before '
  'its positions, so for a cursor this is a minute earlier than the time of the commit.';

create function filestore.moment_of(p_session filestore.session, p_at text) returns filestore.moment
language plpgsql volatile set search_path = '' as $$
declare
  v_moment filestore.moment;
  v_cursor_key bytea;
begin
  if p_at ~ '^[0-9a-f]{32}$' then
    select p.cursor_key into v_cursor_key from filestore.projects p where p.id = p_session.project_id;
    v_moment.position := filestore.position_of(v_cursor_key, p_at);
    if v_moment.position is null then
      v_moment.refusal := filestore.refused_field('at', 'must be a cursor of this project');
    end if;
    -- A position within a transaction stands for the end of the transaction.
    select coalesce(max(o.position), v_moment.position), min(v.created_at) - interval '1 minute'
    into v_moment.position, v_moment.unchanged_before
    from filestore.file_versions v
    join filestore.file_versions o on o.project_id = v.project_id and o.commit_id = v.commit_id
    where v.project_id = p_session.project_id and v.position = v_moment.position;
  else
    v_moment.at := p_at::timestamptz;
    v_moment.unchanged_before := v_moment.at;
    if v_moment.at > clock_timestamp() then
      v_moment.refusal := filestore.refused_field('at', 'must not be in the future');
    end if;
  end if;
  return v_moment;
end
$$;
comment on function filestore.moment_of is
  'The moment of an ISO 8601 time or a cursor. Refused: a time in the future, and a cursor of another project.';
call filestore.grant_execute('filestore.moment_of', 'filestore_engine');

create function filestore.file_at(
  p_file filestore.files, p_moment filestore.moment,
  out file filestore.files, out is_trimmed boolean, out is_redacted boolean
)
language plpgsql volatile set search_path = '' as $$
declare
  -- v_then is the highest version known to be at or before the moment, v_high the lowest number known to be
  -- later. No version exists between v_then's number and v_searched.
  v_then filestore.file_versions;
  v_found filestore.file_versions;
  v_high integer := (p_file).version + 1;
  v_searched integer := 0;
  v_middle integer := (p_file).version;
begin
  is_trimmed := false;
  is_redacted := false;
  if (p_file).updated_at <= p_moment.unchanged_before then
    file := p_file;
    return;
  end if;
  if p_moment.at is not null and (p_file).created_at > p_moment.at then return; end if;
  -- Times and positions ascend with the numbers. The file's row shows whether the latest version is later;
  -- for a cursor, only the version has the position that decides. The second latest version is next: if the
  -- latest is later, few others are.
  if (p_file).updated_at > p_moment.at then
    v_high := (p_file).version;
    v_middle := v_high - 1;
  end if;
  while v_searched < v_high - 1 loop
    select * into v_found from filestore.file_versions v
    where v.project_id = (p_file).project_id and v.file_id = (p_file).id
      and v.version > v_searched and v.version <= v_middle
    order by v.version desc limit 1;
    if not found then
      v_searched := v_middle;
    elsif coalesce(v_found.created_at > p_moment.at, v_found.position > p_moment.position) then
      v_high := v_found.version;
    else
      v_then := v_found;
      v_searched := v_middle;
    end if;
    v_middle := (v_searched + v_high) / 2;
  end loop;
  is_trimmed := v_high > coalesce(v_then.version, 0) + 1;
  if v_then.version is null then return; end if;
  file := p_file;
  if v_then.version = (p_file).version then return; end if;
  file := filestore.at_version(p_file, v_then);
  is_redacted := v_then.redacted_at is not null;
end
$$;
comment on function filestore.file_at is
  'The file at that moment: null where it did not exist yet. Reads one version for each binary digit of the '
  'number of versions. is_trimmed: the state at that moment is unknown, since the versions around it were '
  'trimmed. is_redacted: its content was erased.';
call filestore.grant_execute('filestore.file_at', 'filestore_admin', 'filestore_engine');
