import bash from 'highlight.js/lib/languages/bash'
import cpp from 'highlight.js/lib/languages/cpp'
import css from 'highlight.js/lib/languages/css'
import diff from 'highlight.js/lib/languages/diff'
import go from 'highlight.js/lib/languages/go'
import java from 'highlight.js/lib/languages/java'
import javascript from 'highlight.js/lib/languages/javascript'
import json from 'highlight.js/lib/languages/json'
import python from 'highlight.js/lib/languages/python'
import rust from 'highlight.js/lib/languages/rust'
import sql from 'highlight.js/lib/languages/sql'
import typescript from 'highlight.js/lib/languages/typescript'
import xml from 'highlight.js/lib/languages/xml'
import yaml from 'highlight.js/lib/languages/yaml'
import { createLowlight } from 'lowlight'
import type { ReactNode } from 'react'
import './thread.css'

const { highlight, registered } = createLowlight({
  bash,
  cpp,
  css,
  diff,
  go,
  java,
  javascript,
  json,
  python,
  rust,
  sql,
  typescript,
  xml,
  yaml,
})

type Tree = ReturnType<typeof highlight>['children'][number]

export function highlighted(code: string, language: string): ReactNode {
  return registered(language) ? highlight(language, code).children.map(rendered) : undefined
}

// Built as elements and text, never as HTML.
function rendered(node: Tree, key: number): ReactNode {
  if (node.type === 'text') return node.value
  if (node.type !== 'element') return undefined
  const classes = node.properties['className']
  return (
    <span key={key} className={Array.isArray(classes) ? classes.join(' ') : undefined}>
      {node.children.map((child, place) => rendered(child as Tree, place))}
    </span>
  )
}
