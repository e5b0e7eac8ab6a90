// A process that opens and closes a database over and over.
import { openSqliteStore } from '../../src/store/sqlite/store.ts'

const { path, times } = JSON.parse(process.argv[2] ?? '{}') as { path: string; times: number }
for (let time = 0; time < times; time += 1) {
  const store = await openSqliteStore({ path })
  await store.commit({ tenant: 'local', conversation: `c${process.pid}` }, () => ({ events: [], value: null }))
  await store.close()
}
process.stdout.write('done\n')
