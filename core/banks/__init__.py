"""What is asked: banks of cases with known answers, and the rules that derive them."""
