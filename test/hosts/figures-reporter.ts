import type { Reporter, TestModule } from 'vitest/node'

/** Prints how long each host took, and how long it is from `runsheet setup` to the first plan. */
export default class FiguresReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const lines = modules.map(module => {
      const tests = [...module.children.allTests()]
      const seconds = tests.reduce((sum, test) => sum + (test.diagnostic()?.duration ?? 0), 0) / 1_000
      const firstPlanMs = tests.flatMap(test => test.meta().firstPlanMs ?? [])[0]
      const first = firstPlanMs === undefined ? '' : `, first plan ${(firstPlanMs / 1_000).toFixed(1)} s after setup`
      return `${module.relativeModuleId}: ${seconds.toFixed(0)} s${first}`
    })
    process.stdout.write(`\n${lines.join('\n')}\n`)
  }
}
