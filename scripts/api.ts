import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { apiReports } from '../test/support/api-report.ts'

const folder = new URL('../docs/api/', import.meta.url)
rmSync(folder, { recursive: true, force: true })
mkdirSync(folder, { recursive: true })
for (const [name, text] of apiReports()) writeFileSync(new URL(name, folder), text)
