import { readFileSync, writeFileSync } from 'node:fs'
import { routeTable } from '../test/support/route-table.ts'

const page = new URL('../docs/http.md', import.meta.url)
const text = readFileSync(page, 'utf8')
writeFileSync(page, text.replace(/(<!-- routes -->\n)[\s\S]*?(<!-- \/routes -->)/, `$1${routeTable()}$2`))
