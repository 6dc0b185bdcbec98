// Every chart by its name: how it is drawn from its rows, and how high it wants to be.
import { byGrade, coefficients, couples, couplesHeight, matrix, overTime, pooled } from "./charts/agreement.js";
import { againstBest, histogram, schemes } from "./charts/judges.js";
import { frontier, replay } from "./charts/lab.js";
import { agreement, grades } from "./charts/overview.js";
import { byRun, importance, left } from "./charts/ranker.js";

const rowsHeight = (each, more) => (rows) => rows.length * each + more;

export const CHARTS = {
  ranker: { option: byRun(3) },
  ndcg_1: { option: byRun(1) },
  ndcg_3: { option: byRun(3) },
  ndcg_5: { option: byRun(5) },
  ndcg_10: { option: byRun(10) },
  left: { option: left },
  importance: { option: importance, height: rowsHeight(28, 8) },
  grades: { option: grades, height: () => 200 },
  agreement: { option: agreement },
  coefficients: { option: coefficients, height: rowsHeight(32, 40) },
  over_time: { option: overTime },
  couples: { option: couples, height: couplesHeight },
  pooled: { option: pooled, height: () => 290 },
  consensus: { option: matrix, height: () => 290 },
  confusion: { option: matrix, height: () => 290 },
  by_grade: { option: byGrade, height: () => 240 },
  against_best: { option: againstBest },
  histogram: { option: histogram },
  frontier: { option: frontier, height: () => 300 },
  replay: { option: replay, height: () => 360 },
  replay_ranked: { option: replay, height: () => 360 },
  schemes: { option: schemes, height: rowsHeight(34, 52) },
};
