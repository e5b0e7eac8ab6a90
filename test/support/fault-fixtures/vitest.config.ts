import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

/** Runs small files of failures, for the test of the table of faults. */
export default defineConfig({
  test: {
    root: fileURLToPath(new URL('.', import.meta.url)),
    include: ['*.fixture.ts'],
    reporters: [['../fault-table.ts', { rows: JSON.parse(process.env['FIXTURE_ROWS'] ?? '{}') }]],
    pool: 'forks',
    maxWorkers: 1,
  },
})
