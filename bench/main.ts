import { benchDamage } from './damage.ts'
import { benchPostgres } from './postgres.ts'
import { benchSqlite } from './sqlite.ts'
import { printMachine } from './table.ts'

printMachine('Ratios are medians of rounds that alternate within this run.')

await benchSqlite()
await benchDamage()
await benchPostgres()
