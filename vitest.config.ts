import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    globalSetup: ['test/support/global-postgres.ts'],
    reporters: ['default', './test/support/counts-reporter.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // A busy machine is no fault.
    expect: { poll: { timeout: 20_000 } },
    pool: 'forks',
    maxWorkers: 3,
  },
})
