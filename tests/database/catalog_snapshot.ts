/**
 * Everything that the file store's SQL creates in a database, as text: two databases with equal snapshots behave the
 * same. The order of a table's columns is ignored, since a later migration can only add columns at the end.
 */

export interface CatalogRow {
  readonly kind: string;
  readonly name: string;
  readonly definition: string;
}

/** Runs one statement and returns its rows. */
export type Query = (sql: string) => Promise<readonly CatalogRow[]>;

/** Maps `kind name` to a definition, sorted. */
export async function readCatalog(query: Query): Promise<Record<string, string>> {
  const entries: [string, string][] = [];
  for (const sql of Object.values(PARTS)) {
    for (const { kind, name, definition } of await query(sql)) entries.push([`${kind} ${name}`, definition]);
  }
  return Object.fromEntries(entries.sort(([a], [b]) => a < b ? -1 : 1));
}

const OWN_SCHEMAS = "('filestore', 'public')";
/** A condition that excludes the objects of an extension. */
const notOfAnExtension = (catalog: string, oid: string) =>
  `not exists (select from pg_depend e where e.deptype = 'e' and e.classid = '${catalog}'::regclass and e.objid = ${oid})`;
/** Grants as `role:privilege`, sorted. */
const grants = (acl: string) =>
  `(select string_agg(g.line, ' ' order by g.line) from (
    select case a.grantee when 0 then 'PUBLIC' else a.grantee::regrole::text end || ':' || a.privilege_type
      || case when a.is_grantable then '*' else '' end as line
    from aclexplode(${acl}) a) g)`;
const lines = (...parts: string[]) => `concat_ws(E'\\n', ${parts.join(", ")})`;

const PARTS = {
  functions: `
    select 'function' as kind, p.oid::regprocedure::text as name,
      ${
    lines(
      "pg_get_functiondef(p.oid)",
      "'owner ' || p.proowner::regrole",
      `'grants ' || ${grants("coalesce(p.proacl, acldefault('f', p.proowner))")}`,
      "'comment ' || obj_description(p.oid, 'pg_proc')",
    )
  } as definition
    from pg_proc p join pg_namespace n on n.oid = p.pronamespace
    where n.nspname in ${OWN_SCHEMAS} and p.prokind in ('f', 'p') and ${
    notOfAnExtension("pg_proc", "p.oid")
  }`,
  relations: `
    select 'relation' as kind, c.oid::regclass::text as name,
      ${
    lines(
      "'kind ' || c.relkind::text",
      "'owner ' || c.relowner::regrole",
      "'row level security ' || c.relrowsecurity || ' forced ' || c.relforcerowsecurity",
      "'options ' || array_to_string(c.reloptions, ',')",
      "'persistence ' || c.relpersistence::text",
      `'grants ' || ${grants("coalesce(c.relacl, acldefault('r', c.relowner))")}`,
      "'index ' || case when c.relkind = 'i' then pg_get_indexdef(c.oid) end",
      "'comment ' || obj_description(c.oid, 'pg_class')",
    )
  } as definition
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname in ${OWN_SCHEMAS} and ${notOfAnExtension("pg_class", "c.oid")}`,
  columns: `
    select 'column' as kind, c.oid::regclass || '.' || a.attname as name,
      ${
    lines(
      "format_type(a.atttypid, a.atttypmod)",
      "'collation ' || (select l.collname from pg_collation l where l.oid = a.attcollation)",
      "case when a.attnotnull then 'not null' end",
      "case a.attgenerated when 's' then 'generated ' else 'default ' end || pg_get_expr(d.adbin, d.adrelid)",
      "'storage ' || a.attstorage::text",
      // Attributes of a composite type are accessed by position.
      "'position ' || case when c.relkind = 'c' then a.attnum end",
      `'grants ' || ${grants("a.attacl")}`,
      "'comment ' || col_description(c.oid, a.attnum)",
    )
  } as definition
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
    where n.nspname in ${OWN_SCHEMAS} and c.relkind in ('r', 'c', 'v', 'm', 'p')
      and ${notOfAnExtension("pg_class", "c.oid")}`,
  constraints: `
    select 'constraint' as kind, c.conrelid::regclass || '.' || c.conname as name,
      ${
    lines("pg_get_constraintdef(c.oid)", "'comment ' || obj_description(c.oid, 'pg_constraint')")
  } as definition
    from pg_constraint c join pg_namespace n on n.oid = c.connamespace
    where n.nspname in ${OWN_SCHEMAS} and c.conrelid <> 0`,
  triggers: `
    select 'trigger' as kind, t.tgrelid::regclass || '.' || t.tgname as name,
      ${
    lines(
      "pg_get_triggerdef(t.oid)",
      "'enabled ' || t.tgenabled::text",
      "'comment ' || obj_description(t.oid, 'pg_trigger')",
    )
  } as definition
    from pg_trigger t join pg_class c on c.oid = t.tgrelid join pg_namespace n on n.oid = c.relnamespace
    where n.nspname in ${OWN_SCHEMAS} and not t.tgisinternal`,
  policies: `
    select 'policy' as kind, p.polrelid::regclass || '.' || p.polname as name,
      ${
    lines(
      "p.polcmd::text || case when p.polpermissive then ' permissive' else ' restrictive' end",
      "'to ' || (select string_agg(case r.role when 0 then 'PUBLIC' else r.role::regrole::text end, ' ') from unnest(p.polroles) r (role))",
      "'using ' || pg_get_expr(p.polqual, p.polrelid)",
      "'check ' || pg_get_expr(p.polwithcheck, p.polrelid)",
      "'comment ' || obj_description(p.oid, 'pg_policy')",
    )
  } as definition
    from pg_policy p join pg_class c on c.oid = p.polrelid join pg_namespace n on n.oid = c.relnamespace
    where n.nspname in ('filestore', 'public', 'storage')`,
  types: `
    select 'type' as kind, t.oid::regtype::text as name,
      ${
    lines(
      "'kind ' || t.typtype::text",
      "'of ' || format_type(nullif(t.typbasetype, 0), t.typtypmod) || ' ' || t.typcollation::regcollation",
      "(select string_agg(pg_get_constraintdef(k.oid), ' ' order by k.conname) from pg_constraint k where k.contypid = t.oid)",
      "'owner ' || t.typowner::regrole",
      `'grants ' || ${grants("coalesce(t.typacl, acldefault('T', t.typowner))")}`,
      "'comment ' || obj_description(t.oid, 'pg_type')",
    )
  } as definition
    from pg_type t join pg_namespace n on n.oid = t.typnamespace
    where n.nspname in ${OWN_SCHEMAS} and t.typelem = 0 and ${notOfAnExtension("pg_type", "t.oid")}`,
  schemas: `
    select 'schema' as kind, n.nspname as name,
      ${
    lines(
      "'owner ' || n.nspowner::regrole",
      `'grants ' || ${grants("coalesce(n.nspacl, acldefault('n', n.nspowner))")}`,
      "'comment ' || obj_description(n.oid, 'pg_namespace')",
    )
  } as definition
    from pg_namespace n where n.nspname in ('filestore', 'public', 'extensions')`,
  roles: `
    select 'role' as kind, r.rolname as name,
      ${
    lines(
      "concat_ws(' ', 'super', r.rolsuper, 'inherit', r.rolinherit, 'createrole', r.rolcreaterole, 'createdb', r.rolcreatedb)",
      "concat_ws(' ', 'login', r.rolcanlogin, 'replication', r.rolreplication, 'bypassrls', r.rolbypassrls)",
      "'settings ' || array_to_string(r.rolconfig, ',')",
      `'members ' || (
        select string_agg(m.member::regrole || case when m.admin_option then '*' else '' end, ' '
          order by m.member::regrole::text, m.admin_option)
        from pg_auth_members m where m.roleid = r.oid)`,
      "'member of ' || (select string_agg(m.roleid::regrole::text, ' ') from pg_auth_members m where m.member = r.oid)",
      "'comment ' || shobj_description(r.oid, 'pg_authid')",
    )
  } as definition
    from pg_roles r where r.rolname like 'filestore%'`,
  extensions: `
    select 'extension' as kind, e.extname as name, n.nspname as definition
    from pg_extension e join pg_namespace n on n.oid = e.extnamespace`,
  tiers: `
    select 'tier' as kind, t.name, t::text as definition from filestore.tiers t`,
  buckets: `
    select 'bucket' as kind, b.id as name, concat_ws(' ', 'public', b.public, b.file_size_limit) as definition
    from storage.buckets b`,
};
