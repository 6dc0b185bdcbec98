// Every chart by its name: how it is drawn from its rows, and how high it wants to be.
import { byGrade, coefficients, couples, couplesHeight, matrix, overTime } from "./charts/agreement.js";
import { againstBest, histogram, schemes } from "./charts/judges.js";
import { frontier } from "./charts/lab.js";
import { agreement, grades, ranker } from "./charts/overview.js";

const rowsHeight = (each, more) => (rows) => rows.length * each + more;

export const CHARTS = {
  ranker: { option: ranker },
  grades: { option: grades, height: () => 200 },
  agreement: { option: agreement },
  coefficients: { option: coefficients, height: rowsHeight(32, 40) },
  over_time: { option: overTime },
  couples: { option: couples, height: couplesHeight },
  consensus: { option: matrix, height: () => 290 },
  confusion: { option: matrix, height: () => 290 },
  by_grade: { option: byGrade, height: () => 200 },
  against_best: { option: againstBest },
  histogram: { option: histogram },
  frontier: { option: frontier, height: () => 300 },
  schemes: { option: schemes, height: rowsHeight(34, 52) },
};
