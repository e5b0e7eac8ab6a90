import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { CompilerState, Extractor, ExtractorConfig, ExtractorLogLevel } from '@microsoft/api-extractor'
import { scratchFolder } from './scratch.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

interface Manifest {
  readonly exports: Readonly<Record<string, string | { readonly types: string }>>
}

/**
 * The declarations of each entry point, from the build in `dist`, as `docs/api` has them: file name and text. Types that
 * an entry point mentions without exporting them are listed once, in the first report that needs them.
 */
export function apiReports(): ReadonlyMap<string, string> {
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Manifest
  const listed = new Set<string>()
  const entries = Object.entries(exports).flatMap(([subpath, each]) =>
    typeof each === 'string' ? [] : [{ name: subpath.replace('.', 'runsheet'), types: join(root, each.types) }],
  )
  const folder = scratchFolder()
  try {
    // One program for all of them: to read the declarations takes longer than to report them.
    const compilerState = CompilerState.create(configFor(entries[0]?.types ?? '', folder), {
      additionalEntryPoints: entries.map(({ types }) => types),
    })
    return new Map(
      entries.map(({ name, types }) => {
        const declarations = withoutRepeats(report(configFor(types, folder), compilerState), listed)
        return [`${name.replaceAll('/', '-')}.api.md`, page(name, declarations)] as const
      }),
    )
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Exports without TSDoc, by name. */
export const undocumentedExports = (text: string): string[] =>
  [...text.matchAll(/^\/\/ @public \(undocumented\)\nexport (?:\w+ )*?(?:\w+) (\w+)/gm)].map(([, name = '']) => name)

const page = (name: string, declarations: string): string => `# \`${name}\`

The public declarations. \`npm run docs:api\` writes this page; a change to it is a change of the API.

\`\`\`ts
${declarations}
\`\`\`
`

const configFor = (types: string, folder: string): ExtractorConfig =>
  ExtractorConfig.prepare({
    configObjectFullPath: join(root, 'api-extractor.json'),
    packageJsonFullPath: join(root, 'package.json'),
    configObject: {
      projectFolder: root,
      mainEntryPointFilePath: types,
      newlineKind: 'lf',
      compiler: { overrideTsconfig: { compilerOptions: COMPILER, files: [types] } },
      apiReport: {
        enabled: true,
        reportFileName: 'report',
        reportFolder: folder,
        reportTempFolder: join(folder, 'temp'),
        includeForgottenExports: true,
      },
      messages: { extractorMessageReporting: MESSAGES },
    },
  })

/** The declarations as API Extractor prints them, in alphabetical order. */
function report(config: ExtractorConfig, compilerState: CompilerState): string {
  Extractor.invoke(config, {
    compilerState,
    localBuild: true,
    messageCallback: message => {
      message.handled = true
      if (message.logLevel === ExtractorLogLevel.Error) throw new Error(message.text)
    },
  })
  const text = readFileSync(config.reportFilePath, 'utf8')
  return (/```ts\n\n([\s\S]*)\n\n\/\/ \(No @packageDocumentation/.exec(text)?.[1] ?? '').replaceAll(
    MEMBER_WITHOUT_TSDOC,
    '',
  )
}

const MEMBER_WITHOUT_TSDOC = /^ +\/\/ \(undocumented\)\n/gm

const COMPILER = {
  target: 'es2022',
  module: 'nodenext',
  lib: ['es2023', 'esnext.disposable', 'dom', 'dom.iterable'],
  types: ['node', 'react'],
  strict: true,
  skipLibCheck: true,
}

const MESSAGES = {
  // Everything that an entry point exports is public.
  'ae-missing-release-tag': { logLevel: ExtractorLogLevel.None },
  // Such types are part of the report.
  'ae-forgotten-export': { logLevel: ExtractorLogLevel.None },
}

function withoutRepeats(text: string, listed: Set<string>): string {
  const kept = text.split('\n\n').filter(block => {
    if (!block.startsWith('// @public')) return true
    const declaration = block.replace('\nexport ', '\n')
    const isRepeat = listed.has(declaration)
    listed.add(declaration)
    return !isRepeat || declaration !== block
  })
  return kept.join('\n\n')
}
