-- Positions of the change feed, and the cursors that clients get for them.

create function filestore.next_position(p_project_id uuid) returns bigint
language plpgsql volatile set search_path = '' as $$
declare
  v_setting text;
begin
  -- The number that is locked is lower than the position that is returned.
  v_setting := pg_advisory_xact_lock(
    hashtext(p_project_id::text), (nextval('filestore.positions') & 4294967295)::bit(32)::integer);
  return nextval('filestore.positions');
end
$$;
comment on function filestore.next_position is
  'The position of a new version, taken once its file is locked. Until the transaction ends an advisory lock tells '
  'readers of the feed that it may commit versions above that number.';
call filestore.grant_execute('filestore.next_position', 'filestore_admin', 'filestore_engine');

create function filestore.cursor_at(p_cursor_key bytea, p_position bigint) returns text
language plpgsql immutable set search_path = '' as $$
declare
  v_tag constant bytea := substr(sha256(p_cursor_key || int8send(p_position)), 1, 8);
begin
  return encode(v_tag || int8send(p_position # filestore.cursor_mask(p_cursor_key, v_tag)), 'hex');
end
$$;
comment on function filestore.cursor_at is
  'The cursor of a position, 32 hexadecimal digits. Positions are numbered over all projects, which a cursor '
  'does not reveal; each project has its own key, so that a project rejects the cursors of other projects.';
call filestore.grant_execute('filestore.cursor_at', 'filestore_account', 'filestore_engine');

create function filestore.cursor_mask(p_cursor_key bytea, p_tag bytea) returns bigint
language plpgsql immutable set search_path = '' as $$
begin
  return ('x' || encode(substr(sha256(p_cursor_key || p_tag || '\x01'), 1, 8), 'hex'))::bit(64)::bigint;
end
$$;
comment on function filestore.cursor_mask is 'The mask with which the position in a cursor is combined.';
call filestore.grant_execute('filestore.cursor_mask', 'filestore_account', 'filestore_engine');

create function filestore.position_of(p_cursor_key bytea, p_cursor text) returns bigint
language plpgsql immutable set search_path = '' as $$
declare
  v_position bigint;
begin
  if p_cursor !~ '^[0-9a-f]{32}$' then return null; end if;
  v_position := ('x' || substr(p_cursor, 17))::bit(64)::bigint
    # filestore.cursor_mask(p_cursor_key, decode(left(p_cursor, 16), 'hex'));
  return case when filestore.cursor_at(p_cursor_key, v_position) = p_cursor then v_position end;
end
$$;
comment on function filestore.position_of is
  'The position that a cursor stands for; null if it is not a cursor of this project.';
call filestore.grant_execute('filestore.position_of', 'filestore_account', 'filestore_engine');
