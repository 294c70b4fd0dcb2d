/** One line of the report: what was measured, the goal, and whether it was met. */
export interface Figure {
  readonly name: string
  readonly value: number
  readonly unit: '×' | 'ms' | 'MB' | 'KB' | 'B' | '/s' | 'modules' | 'rows'
  readonly goal: number
  /** Whether smaller or larger is better. */
  readonly better: 'at most' | 'at least'
  /** The absolute times behind a ratio. */
  readonly detail?: string
}

export function isMet({ value, goal, better }: Figure): boolean {
  return better === 'at most' ? value <= goal : value >= goal
}

export function ratio(name: string, ours: number, theirs: number, goal: number): Figure {
  return { name, value: ours / theirs, unit: '×', goal, better: 'at most', detail: against(ours, theirs) }
}

export function faster(name: string, ours: number, theirs: number, goal: number): Figure {
  return { name, value: theirs / ours, unit: '×', goal, better: 'at least', detail: against(ours, theirs) }
}

function against(ours: number, theirs: number): string {
  return `${ns(ours)} against ${ns(theirs)}`
}

export function report(figures: readonly Figure[]): string {
  const width = Math.max(...figures.map((figure) => figure.name.length))
  return figures
    .map((figure) => {
      const { name, value, unit, goal, better, detail } = figure
      const sign = better === 'at most' ? '≤' : '≥'
      const measured = `${short(value)}${unit === '×' ? '×' : ` ${unit}`}`.padStart(10)
      const wanted = `${sign} ${short(goal)}${unit === '×' ? '×' : ` ${unit}`}`.padEnd(11)
      return `${isMet(figure) ? 'met   ' : 'MISSED'} ${name.padEnd(width)} ${measured}  goal ${wanted} ${detail ?? ''}`.trimEnd()
    })
    .join('\n')
}

function ns(value: number): string {
  return value < 1_000 ? `${value.toFixed(value < 100 ? 1 : 0)} ns` : `${(value / 1_000).toFixed(1)} µs`
}

function short(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toFixed(value >= 10 ? 1 : 2)
}
