import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import * as agent from '../src/agent/index.ts'
import * as client from '../src/client/index.ts'
import * as http from '../src/http/index.ts'
import * as runsheet from '../src/index.ts'

it('[LA3] `runsheet` exports exactly this', () => {
  expect(Object.keys(runsheet).sort()).toEqual([
    'Refusal',
    'StoreError',
    'apply',
    'awaitCall',
    'callTool',
    'createRunsheet',
    'currentTask',
    'currentToolContext',
    'emptyConversation',
    'fold',
    'hashOf',
    'isOpen',
    'isSettled',
    'jsonSchemaOf',
    'listed',
    'logCalls',
    'openAiTools',
    'openFileStore',
    'openMemoryStore',
    'openPostgresStore',
    'openSqliteStore',
    'openTasks',
    'promptFor',
    'reviewAnswer',
    'takeCall',
    'toolsets',
    'withToolContext',
  ])
})

it('[LA3] `runsheet/client` exports exactly this', () => {
  expect(Object.keys(client).sort()).toEqual([
    'RunsheetError',
    'createClient',
    'currentTask',
    'listed',
    'openTasks',
    'planTurnOf',
    'randomId',
    'tasksInView',
  ])
})

it('[LA3] `runsheet/agent` and `runsheet/http` export exactly this', () => {
  expect(Object.keys(agent).sort()).toEqual([
    'Runner',
    'configuredModels',
    'demoModel',
    'givenModels',
    'givenTools',
    'mcpTools',
  ])
  expect(Object.keys(http)).toEqual(['createHttpServer'])
})

it('[LA3] every dependency is pinned exactly, and the lockfile names no address', () => {
  const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as Record<
    string,
    Record<string, string>
  >
  const versions = ['dependencies', 'devDependencies', 'optionalDependencies'].flatMap(kind =>
    Object.entries(manifest[kind] ?? {}),
  )
  expect(versions.filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))).toEqual([])
  expect(readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8')).not.toMatch(
    /"resolved"|https?:\/\/[^"]*\.tgz/,
  )
})
