import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import * as client from '../src/client/index.ts'
import * as http from '../src/library/http.ts'
import * as library from '../src/index.ts'
import * as aiSdk from '../src/library/ai-sdk.ts'
import * as files from '../src/library/files.ts'
import * as postgres from '../src/library/postgres.ts'
import * as runner from '../src/library/runner-entry.ts'
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
  ['runsheet/ai-sdk', aiSdk, ['aiSdkTools']],
  ['runsheet/runner', runner, ['createRunner', 'demoModel', 'mcpTools']],
  ['runsheet/http', http, ['createHandler', 'toNodeHandler']],
  [
    'runsheet/client',
    client,
    ['RunsheetError', 'createClient', 'currentTask', 'listed', 'openTasks', 'planTurnOf', 'randomId', 'tasksInView'],
  ],
])('[LA3] %s exports exactly this', (_, exports, names) => {
  expect(Object.keys(exports).sort()).toEqual(names)
})

it('[LA3] every dependency is pinned exactly, and the lockfile names no address', () => {
  const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as Record<
    string,
    Record<string, string>
  >
  const versions = ['dependencies', 'devDependencies', 'optionalDependencies'].flatMap(kind =>
    Object.entries(manifest[kind] ?? {}),
  )
  // `file:` is a folder of this repository.
  expect(versions.filter(([, version]) => !/^(\d+\.\d+\.\d+(-[\w.]+)?|file:scripts\/[\w-]+)$/.test(version))).toEqual(
    [],
  )
  expect(readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8')).not.toMatch(
    /"resolved"|https?:\/\/[^"]*\.tgz/,
  )
})
