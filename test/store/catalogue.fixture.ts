/** What a database says about its schema, in a form that can be compared. The order of columns does not count. */
import type { DatabaseSync } from 'node:sqlite'

type Query = (text: string) => Promise<readonly Record<string, unknown>[]>

const lines = (rows: readonly Record<string, unknown>[]) =>
  rows.map((row) => JSON.stringify(Object.values(row))).toSorted()
const squeeze = (text: unknown) => String(text).replace(/\s+/g, ' ')

export function sqliteCatalogue(database: DatabaseSync): Readonly<Record<string, readonly string[]>> {
  const all = (text: string) => database.prepare(text).all()
  const names = `from sqlite_master m where m.type = 'table' and m.name not like 'sqlite_%' and m.name not like 'kysely_%'`
  return {
    tables: lines(
      all(`select l.name, l.wr, m.sql like '%autoincrement%' from pragma_table_list l
        join sqlite_master m on m.name = l.name and m.type = 'table'
        where l.schema = 'main' and l.name not like 'sqlite_%' and l.name not like 'kysely_%'`),
    ),
    columns: lines(
      all(
        `select m.name as t, c.name, c.type, c."notnull", c.dflt_value, c.pk ${names.replace(' m ', ' m, pragma_table_info(m.name) c ')}`,
      ),
    ),
    indexes: lines(
      all(`select m.name as t, i.origin, i."unique", i.partial, case i.origin when 'c' then i.name end as name,
        (select group_concat(x.name) from pragma_index_info(i.name) x) as columns
        ${names.replace(' m ', ' m, pragma_index_list(m.name) i ')}`),
    ),
    indexTexts: all("select sql from sqlite_master where type = 'index' and sql is not null")
      .map(({ sql }) => squeeze(sql).replace('create index', 'create index'))
      .toSorted(),
    foreignKeys: lines(
      all(
        `select m.name as t, f."from", f."table", f."to", f.on_delete ${names.replace(' m ', ' m, pragma_foreign_key_list(m.name) f ')}`,
      ),
    ),
    checks: all(`select m.name, m.sql ${names}`)
      .flatMap(({ name, sql }) =>
        [...squeeze(sql).matchAll(/check \((.*?)\)\)/g)].map((found) => `${name}: ${found[1]}`),
      )
      .toSorted(),
  }
}

export async function postgresCatalogue(query: Query): Promise<Readonly<Record<string, readonly string[]>>> {
  const ours = `c.relnamespace = current_schema()::regnamespace and c.relname not like 'kysely%'`
  return {
    tables: lines(
      await query(`select c.relname, c.relrowsecurity, c.relforcerowsecurity, c.relacl::text from pg_class c
        where ${ours} and c.relkind = 'r'`),
    ),
    columns: lines(
      await query(`select c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attidentity,
          pg_get_expr(d.adbin, d.adrelid) as fallback
        from pg_class c join pg_attribute a on a.attrelid = c.oid left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
        where ${ours} and c.relkind = 'r' and a.attnum > 0 and not a.attisdropped`),
    ),
    constraints: lines(
      await query(`select c.relname, k.conname, pg_get_constraintdef(k.oid) from pg_class c
        join pg_constraint k on k.conrelid = c.oid where ${ours}`),
    ),
    indexes: lines(
      await query(
        `select pg_get_indexdef(i.indexrelid) from pg_class c join pg_index i on i.indrelid = c.oid where ${ours}`,
      ),
    ),
    triggers: lines(
      await query(`select pg_get_triggerdef(t.oid) from pg_class c join pg_trigger t on t.tgrelid = c.oid
        where ${ours} and not t.tgisinternal`),
    ),
    policies: lines(
      await query(`select c.relname, p.polname, p.polcmd, p.polroles::text, pg_get_expr(p.polqual, p.polrelid) as using,
          pg_get_expr(p.polwithcheck, p.polrelid) as "check"
        from pg_class c join pg_policy p on p.polrelid = c.oid where ${ours}`),
    ),
    functions: lines(
      await query(`select proname, squeeze from pg_proc, lateral (select regexp_replace(prosrc, '\\s+', ' ', 'g') as squeeze) s
        where pronamespace = current_schema()::regnamespace`),
    ),
  }
}
