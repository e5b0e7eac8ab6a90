import type { Client } from 'runsheet/client'

export async function download(client: Client, id: string, title: string, format: 'md' | 'jsonl'): Promise<void> {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(await client.exportSession(id, format))
  link.download = `${fileName(title)}.${format}`
  link.click()
  // The browser reads the URL after the click.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}

const MAX_CHARACTERS = 60

/** Removes characters that file systems refuse or that change the text direction. */
function fileName(title: string): string {
  const plain = title
    .replace(/[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069\\/:*?"<>|]+/gu, ' ')
    .replace(/\s+/gu, ' ')
    .replace(/^[\s.]+/u, '')
  return (
    [...plain]
      .slice(0, MAX_CHARACTERS)
      .join('')
      .replace(/[\s.]+$/u, '') || 'conversation'
  )
}
