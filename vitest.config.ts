import { realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import LongestFirst from './test/support/longest-first.ts'

const STORE = [
  'src/store/{sqlite,files,postgres}/**/*.test.ts',
  'test/{door,earlier-checkout}.test.ts',
  'test/faults/**/*.test.ts',
]
const BROWSER = ['test/browser/**/*.test.ts']
/** Tests in `test/` that need neither a server nor a process. */
const PURE = ['test/{corpus,domain-properties,layers,spec,surface}.test.ts']
const PROCESSES = ['src/{checks,cli}/**/*.test.ts']
/** Tests that measure their process, or mock a module that others have loaded. */
const ALONE = ['test/mcp/long-waits.test.ts', 'test/http/stream.test.ts', 'src/checks/run-command.test.ts']
/** With real hosts: `npm run test:hosts`. */
const HOSTS = ['test/hosts/**']
const SETUP = ['test/support/global-postgres.ts', 'test/support/global-children.ts']

export default defineConfig({
  test: {
    reporters: [
      'default',
      ...(process.env['LONG'] ? ['./test/support/fault-table.ts'] : []),
      './test/support/counts-reporter.ts',
    ],
    // Larger numbers take longer.
    testTimeout: process.env['LONG'] ? 1_800_000 : 60_000,
    hookTimeout: 60_000,
    // Until ten runs in a row are green: a test that needs its second try is a bug, but not of the change that lands.
    retry: process.env['CI'] ? 1 : 0,
    // Generous, since other work may share the machine.
    expect: { poll: { timeout: 20_000 } },
    // Tests start our own programs hundreds of times: compiled once, each start takes half the time.
    env: {
      NODE_COMPILE_CACHE: fileURLToPath(new URL('node_modules/.cache/compile', import.meta.url)),
      // Scratch folders have no repository but their own, whatever lies above them.
      GIT_CEILING_DIRECTORIES: realpathSync(tmpdir()),
    },
    sequence: { sequencer: LongestFirst },
    pool: 'forks',
    // Three per core of CI: most tests wait twice as long as they work.
    maxWorkers: 6,
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['src/**/*.test.ts', ...PURE],
          exclude: [...STORE, ...PROCESSES],
          // The files share their workers, so that modules are loaded once.
          isolate: false,
        },
      },
      { extends: true, test: { name: 'store', include: STORE, isolate: false, globalSetup: SETUP } },
      {
        extends: true,
        test: {
          name: 'edge',
          include: ['test/**/*.test.ts', ...PROCESSES],
          exclude: [...PURE, ...STORE, ...BROWSER, ...ALONE, ...HOSTS],
          isolate: false,
          globalSetup: SETUP,
        },
      },
      { extends: true, test: { name: 'browser', include: BROWSER, isolate: false } },
      { extends: true, test: { name: 'alone', include: ALONE, globalSetup: SETUP } },
    ],
  },
})
