import type { ReactElement } from 'react'
import ReactMarkdown from 'react-markdown'
import remarkGfm from 'remark-gfm'
import remend from 'remend'

/** Markdown without HTML and without images from elsewhere; what is still being written is closed first. */
export default function Markdown({
  text,
  isGrowing = false,
}: {
  readonly text: string
  readonly isGrowing?: boolean
}): ReactElement {
  return (
    <div className="app-markdown">
      <ReactMarkdown
        remarkPlugins={[remarkGfm]}
        skipHtml
        components={{
          img: ({ alt }) => <span>{alt}</span>,
          a: ({ href, children }) => (
            <a href={href} target="_blank" rel="noopener noreferrer nofollow">
              {children}
            </a>
          ),
        }}
      >
        {isGrowing ? remend(text) : text}
      </ReactMarkdown>
    </div>
  )
}
