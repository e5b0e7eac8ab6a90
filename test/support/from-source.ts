// For `node --import`: examples get the package from its source, so that they run without a build.
import { registerHooks } from 'node:module'

const SOURCES: Readonly<Record<string, string>> = {
  runsheet: '../../src/index.ts',
  'runsheet/http': '../../src/library/http.ts',
  'runsheet/sqlite': '../../src/library/sqlite.ts',
}

registerHooks({
  resolve: (specifier, context, next) => {
    const source = SOURCES[specifier]
    return next(source === undefined ? specifier : new URL(source, import.meta.url).href, context)
  },
})
