import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Extractor, ExtractorConfig, ExtractorLogLevel } from '@microsoft/api-extractor'
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
  return new Map(
    Object.entries(exports).flatMap(([subpath, each]) => {
      if (typeof each === 'string') return []
      const name = subpath.replace('.', 'runsheet')
      const declarations = withoutRepeats(report(each.types), listed)
      return [[`${name.replaceAll('/', '-')}.api.md`, page(name, declarations)] as const]
    }),
  )
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

/** The declarations as API Extractor prints them, in alphabetical order. */
function report(types: string): string {
  const folder = scratchFolder()
  try {
    const config = ExtractorConfig.prepare({
      configObjectFullPath: join(root, 'api-extractor.json'),
      packageJsonFullPath: join(root, 'package.json'),
      configObject: {
        projectFolder: root,
        mainEntryPointFilePath: join(root, types),
        newlineKind: 'lf',
        compiler: { overrideTsconfig: { compilerOptions: COMPILER, files: [join(root, types)] } },
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
    Extractor.invoke(config, {
      localBuild: true,
      messageCallback: message => {
        message.handled = true
        if (message.logLevel === ExtractorLogLevel.Error) throw new Error(message.text)
      },
    })
    const text = readFileSync(join(folder, 'report.api.md'), 'utf8')
    return (/```ts\n\n([\s\S]*)\n\n\/\/ \(No @packageDocumentation/.exec(text)?.[1] ?? '').replaceAll(
      MEMBER_WITHOUT_TSDOC,
      '',
    )
  } finally {
    rmSync(folder, { recursive: true })
  }
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
