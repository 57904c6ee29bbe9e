"""Values as sums of products over real numbers, and which of them are equal by which laws."""
