/** One line of `/metrics`. */
export interface Figure {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

/** For tests: the figures of a server, without those of Node and of requests. */
export async function figures(url: URL): Promise<Figure[]> {
  const text = await (await fetch(new URL('/metrics', url))).text()
  return [...text.matchAll(/^(runsheet_(?!http)\w+)(?:\{(.*)\})? (\S+)$/gm)].map(
    ([, name = '', labels = '', value]) => ({
      name,
      labels: Object.fromEntries(
        [...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, key = '', text = '']) => [key, text]),
      ),
      value: Number(value),
    }),
  )
}

/** For tests: the figures of one name, by their labels in the order in which they are declared. */
export async function figuresOf(url: URL, name: string): Promise<Record<string, number>> {
  const found = (await figures(url)).filter(figure => figure.name === name && figure.labels['le'] === undefined)
  return Object.fromEntries(found.map(({ labels, value }) => [Object.values(labels).join(' '), value]))
}
