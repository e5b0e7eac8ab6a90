import { cpus, totalmem } from 'node:os'
import { benchDamage } from './damage.ts'
import { benchPostgres } from './postgres.ts'
import { benchSqlite } from './sqlite.ts'

const [cpu] = cpus()
console.log(
  `Node ${process.version} on ${process.platform} ${process.arch}, ${cpus().length} × ${cpu?.model.trim() ?? 'unknown'}, ` +
    `${Math.round(totalmem() / 2 ** 30)} GiB. Ratios are medians of rounds that alternate within this run.`,
)

await benchSqlite()
await benchDamage()
await benchPostgres()
