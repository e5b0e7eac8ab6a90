import type { Reporter, TestModule } from 'vitest/node'

/** Reports what was skipped and why, and ends a run with one plain line that any CI can parse. */
export default class CountsReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const tests = modules.flatMap(module => [...module.children.allTests()])
    const count = (state: string): number => tests.filter(test => test.result().state === state).length
    const broken = modules.filter(module => module.errors().length > 0).length + errors.length
    const lines = tests.flatMap(test => {
      const result = test.result()
      return result.state === 'skipped' && result.note ? [`skipped: ${test.fullName} (${result.note})`] : []
    })
    lines.push(`${count('passed')} passed, ${count('failed') + broken} failed, ${count('skipped')} skipped`)
    process.stdout.write(`\n${lines.join('\n')}\n`)
  }
}
