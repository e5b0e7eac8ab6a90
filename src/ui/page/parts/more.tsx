import { type ReactElement, useCallback, useEffect, useRef, useState } from 'react'
import type { PageStrings } from '../texts/page-strings.ts'

interface MoreProps {
  readonly strings: PageStrings
  readonly onMore: () => Promise<void>
}

export function More({ strings, onMore }: MoreProps): ReactElement {
  const button = useRef<HTMLButtonElement>(null)
  const [isLoading, setLoading] = useState(false)
  const more = useCallback(async (): Promise<void> => {
    setLoading(true)
    await onMore()
    setLoading(false)
  }, [onMore])
  useEffect(() => {
    if (!button.current || isLoading) return
    const options = { root: button.current.closest('.app-sessions'), rootMargin: '0px 0px 600px' }
    const observer = new IntersectionObserver(([entry]) => entry?.isIntersecting && void more(), options)
    observer.observe(button.current)
    return () => observer.disconnect()
  }, [more, isLoading])
  return (
    <button
      ref={button}
      type="button"
      className="app-more"
      aria-disabled={isLoading}
      onClick={() => isLoading || void more()}
    >
      {isLoading ? strings.loading : strings.showMore}
    </button>
  )
}
