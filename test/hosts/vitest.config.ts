import { defineConfig } from 'vitest/config'

// Real hosts: minutes, 1.4 GB and a registry. So they are no part of `npm test`.
export default defineConfig({
  test: {
    include: ['test/hosts/*.test.ts'],
    globalSetup: ['test/hosts/runsheet.ts'],
    reporters: ['verbose', './test/hosts/figures-reporter.ts', './test/support/counts-reporter.ts'],
    testTimeout: 240_000,
    hookTimeout: 660_000,
    expect: { poll: { timeout: 60_000 } },
    pool: 'forks',
    // One host at a time: each takes a core of its own.
    fileParallelism: false,
  },
})
