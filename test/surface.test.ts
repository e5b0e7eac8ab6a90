import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import * as client from '../src/client/index.ts'
import * as http from '../src/library/http.ts'
import * as library from '../src/index.ts'
import * as aiSdk from '../src/library/ai-sdk.ts'
import * as checks from '../src/library/checks.ts'
import * as files from '../src/library/files.ts'
import * as postgres from '../src/library/postgres.ts'
import * as runner from '../src/library/runner.ts'
import * as sqlite from '../src/library/sqlite.ts'

it.each([
  [
    'runsheet',
    library,
    ['Conversation', 'Refusal', 'Runsheet', 'StoreError', 'Turn', 'createRunsheet', 'openMemoryStore'],
  ],
  ['runsheet/sqlite', sqlite, ['openSqliteStore']],
  ['runsheet/files', files, ['openFileStore']],
  ['runsheet/postgres', postgres, ['openPostgresStore']],
  ['runsheet/checks', checks, ['openChecks']],
  ['runsheet/ai-sdk', aiSdk, ['aiSdkTools', 'createJudge', 'planAgent', 'planLoop']],
  ['runsheet/runner', runner, ['createRunner', 'demoModel', 'mcpTools']],
  ['runsheet/http', http, ['createHandler', 'toNodeHandler']],
  [
    'runsheet/client',
    client,
    [
      'RunsheetError',
      'checkState',
      'createClient',
      'currentTask',
      'findingOf',
      'isDisputed',
      'labelOf',
      'listed',
      'liveEvidence',
      'liveSessions',
      'openTasks',
      'planOf',
      'randomId',
      'standingOf',
      'standingWordOf',
      'startedBy',
      'tallyOf',
      'tasksAt',
      'tasksInView',
      'tasksOf',
      'threadOf',
      'turnOf',
      'waitingChanges',
    ],
  ],
])('[LA6] %s exports exactly this', (_, exports, names) => {
  expect(Object.keys(exports).sort()).toEqual(names)
})

it('every dependency is pinned exactly, and the lockfile names no address', () => {
  const versions = ['package.json', 'scripts/clone-node/package.json'].flatMap(dependenciesIn)
  const exact = /^\d+\.\d+\.\d+(-[\w.]+)?$/
  expect(versions.filter(([, version]) => !exact.test(version))).toEqual([['clone-node', 'file:scripts/clone-node']])
  expect(read('package-lock.json')).not.toMatch(/"resolved": "(?!scripts\/clone-node")|https?:\/\/[^"]*\.tgz/)
})

const read = (path: string): string => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8')

function dependenciesIn(path: string): [string, string][] {
  const manifest = JSON.parse(read(path)) as Record<string, Record<string, string> | undefined>
  return ['dependencies', 'devDependencies', 'optionalDependencies'].flatMap(kind =>
    Object.entries(manifest[kind] ?? {}),
  )
}
