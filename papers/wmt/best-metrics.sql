select metric, subset, count(*) as sets, avg(value) as mean, min(value) as lowest,
  max(value) as highest, count(*) filter (rank = 1) as first
from best_metrics where statistic = 'pearson' and level = 'system'
group by metric, subset order by subset, mean desc
