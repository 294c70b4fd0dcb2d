import { readFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'

const { sql } = JSON.parse(readFileSync(0, 'utf8'))
const database = new DatabaseSync(':memory:')
database.exec(`CREATE TABLE people (name TEXT, city TEXT);
  INSERT INTO people VALUES ('Ada', 'London'), ('Grace', 'New York')`)
process.stdout.write(JSON.stringify({ rows: database.prepare(sql).all() }))
